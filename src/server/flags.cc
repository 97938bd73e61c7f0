#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <regex>

#include "server/options.h"
#include "server/policy_flags.h"

namespace instantstart::server {

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// "127.0.0.1:3099", "[::1]:3099"; false where it is neither.
bool parse_listen(const std::string& text, ListenAddress& out) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return false;
    std::string host = text.substr(0, colon);
    if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    constexpr long kHighest = 65535;
    char* end = nullptr;
    const long port = std::strtol(text.c_str() + colon + 1, &end, 10);
    if (*end != '\0' || port < 0 || port > kHighest) return false;
    out = ListenAddress(host, static_cast<std::uint16_t>(port));
    return true;
}

void add_listen(CLI::App& app, const std::string& name, const std::string& variable, ListenAddress& target,
                const std::string& help) {
    app.add_option_function<std::string>(
           name,
           [&target, name](const std::string& text) {
               if (!parse_listen(text, target)) throw CLI::ValidationError(name, "must be ADDRESS:PORT");
           },
           help)
        ->envname(variable);
}

void add_log(CLI::App& app, Flags& flags) {
    app.add_option("--log-level", flags.log_level, "debug, info, warn, error or off")
        ->envname("INSTANTSTART_LOG_LEVEL")
        ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
    app.add_option("--log-format", flags.log_format, "text or json")
        ->envname("INSTANTSTART_LOG_FORMAT")
        ->check(CLI::IsMember({"text", "json"}));
    app.add_option("--data", flags.data_dir, "Folder of the state (default $XDG_STATE_HOME/instantstart)")
        ->envname("INSTANTSTART_DATA");
    app.add_option("--region", flags.region, "AWS region")->envname("INSTANTSTART_REGION");
}

void add_twin(CLI::App& app, Flags& flags) {
    TwinFlags& twin = flags.twin;
    add_listen(app, "--twin-aws", "INSTANTSTART_TWIN_AWS", twin.aws,
               "The twin's AWS endpoint (127.0.0.1:3097)");
    add_listen(app, "--twin-kube", "INSTANTSTART_TWIN_KUBE", twin.kube,
               "The twin's Kubernetes endpoint (127.0.0.1:3098)");
    app.add_option("--twin-speed", twin.speed, "AWS durations are divided by it (60)")
        ->envname("INSTANTSTART_TWIN_SPEED")
        ->check(CLI::Range(0.01, 1e6));
    app.add_option("--twin-seed", twin.seed, "Seed of the twin's randomness (1)")
        ->envname("INSTANTSTART_TWIN_SEED");
    app.add_flag("--twin-fresh", twin.fresh, "Begin with an empty account");
    app.add_option_function<std::string>(
           "--twin-quotas", [&twin](const std::string& text) { twin.zero_quotas = text == "zero"; },
           "default, or zero: accelerated types as a new account has them")
        ->envname("INSTANTSTART_TWIN_QUOTAS")
        ->check(CLI::IsMember({"default", "zero"}));
}

void add_serve(CLI::App& app, Flags& flags) {
    add_listen(app, "--listen", "INSTANTSTART_LISTEN", flags.listen,
               "Console, REST and MCP (127.0.0.1:3099)");
    app.add_flag("--twin,!--no-twin", flags.use_twin,
                 "Work on the built-in simulated account (default), or on AWS")
        ->envname("INSTANTSTART_TWIN");
    app.add_option("--store", flags.store_url, "postgresql://… instead of the data folder's SQLite")
        ->envname("INSTANTSTART_STORE");
    app.add_option("--token-file", flags.token_file, "Lines NAME ROLE SHA256-HEX; re-read on change")
        ->envname("INSTANTSTART_TOKEN_FILE");
    app.add_option("--artifacts", flags.artifacts, "Mirror of third-party artefacts: URL or folder")
        ->envname("INSTANTSTART_ARTIFACTS");
    app.add_flag("--read-only", flags.read_only, "Refuse every change")->envname("INSTANTSTART_READ_ONLY");
    app.add_option("--allow-host", flags.allowed_hosts, "A further Host name that requests may carry")
        ->envname("INSTANTSTART_ALLOW_HOST");
    app.add_option("--tls-cert", flags.tls_cert, "Certificate chain, PEM")->envname("INSTANTSTART_TLS_CERT");
    app.add_option("--tls-key", flags.tls_key, "Its key, PEM")->envname("INSTANTSTART_TLS_KEY");
    app.add_flag("--insecure-listen", flags.insecure_listen, "Plain text beyond loopback")
        ->envname("INSTANTSTART_INSECURE_LISTEN");
    app.add_option("--rate-mutations", flags.rate_mutations,
                   "Changes a minute for each principal; 0 is no limit")
        ->envname("INSTANTSTART_RATE_MUTATIONS")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--rate-queries", flags.rate_queries, "Queries a second for each principal; 0 is no limit")
        ->envname("INSTANTSTART_RATE_QUERIES")
        ->check(CLI::NonNegativeNumber);
    add_twin(app, flags);
    add_log(app, flags);
}

// Refuses what does not match; IAM would only say that the policy is malformed.
CLI::Validator looks_like(const std::string& pattern, const std::string& words) {
    return CLI::Validator(
        [pattern, words](const std::string& text) {
            return std::regex_match(text, std::regex(pattern)) ? std::string() : "must be " + words;
        },
        "");
}

void add_policy(CLI::App& app, Flags& flags) {
    PolicyFlags& policy = flags.policy;
    app.add_option("--region", flags.region, "Only in this region (every one where left out)")
        ->check(looks_like("[a-z]{2,4}(-[a-z]+)+-[0-9]+", "a region such as us-west-2"));
    app.add_option("--account", policy.account, "Only in this account (every one where left out)")
        ->check(looks_like("[0-9]{12}", "12 digits"));
    app.add_option("--partition", policy.partition, "aws, aws-cn or aws-us-gov (the region's where left out)")
        ->check(CLI::IsMember({"aws", "aws-cn", "aws-us-gov"}));
    app.add_option("--permissions-boundary", policy.permissions_boundary,
                   "Roles can be made with this boundary only; launch with permissions_boundary_arn");
    app.add_option("--execution-role", policy.execution_roles,
                   "A role of yours that instance groups may name as execution_role_arn; may be repeated");
    app.add_option("--kms-key", policy.kms_keys,
                   "A key of yours that is named as kms_key_arn; may be repeated");
    app.add_flag("--custom-images", policy.custom_images,
                 "Instance groups may name images of yours as image_id");
    app.add_flag("--read-only", policy.read_only, "What queries need, and no more");
    app.add_option(
           "--format", policy.format,
           "json: one document; managed: numbered ones that fit managed policies; cloudformation: a template")
        ->check(CLI::IsMember({"json", "managed", "cloudformation"}));
}

void add_client(CLI::App& app, Flags& flags) {
    app.add_option("--url", flags.url, "The running server (http://127.0.0.1:3099)")
        ->envname("INSTANTSTART_URL");
    app.add_option("--data", flags.data_dir, "Folder whose token is used where INSTANTSTART_TOKEN is not set")
        ->envname("INSTANTSTART_DATA");
}

}  // namespace

std::string default_data_dir() {
    const std::string state = environment("XDG_STATE_HOME");
    if (!state.empty()) return state + "/instantstart";
    const std::string home = environment("HOME");
    return (home.empty() ? std::string(".") : home) + "/.local/state/instantstart";
}

Flags parse_flags(int argc, char** argv) {
    Flags flags;
    CLI::App app("InstantStart: control plane for SageMaker HyperPod on Amazon EKS", "instantstart");
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("instantstart ") + INSTANTSTART_VERSION);
    add_serve(*app.add_subcommand("serve", "Run the control plane"), flags);
    CLI::App* twin = app.add_subcommand("twin", "Run the simulated AWS account alone");
    add_twin(*twin, flags);
    add_log(*twin, flags);
    CLI::App* call =
        app.add_subcommand("call", "Call an operation of a running server; `call --help` lists them");
    call->allow_extras();
    call->prefix_command();
    call->set_help_flag();
    CLI::App* watch = app.add_subcommand("watch", "Follow an operation to its end");
    add_client(*watch, flags);
    watch->add_option("operation", flags.operation, "The operation's id")->required();
    CLI::App* mcp =
        app.add_subcommand("mcp", "Speak MCP on standard input and output, as a bridge to a running server");
    add_client(*mcp, flags);
    mcp->add_option("--toolsets", flags.toolset,
                    "default, all, readonly, cluster, training, inference or ops")
        ->envname("INSTANTSTART_TOOLSETS");
    CLI::App* doctor =
        app.add_subcommand("doctor", "Check credentials, region, permissions, quotas and reachability");
    add_client(*doctor, flags);
    doctor->add_option("--region", flags.region, "AWS region")->envname("INSTANTSTART_REGION");
    doctor->add_flag("--json", flags.json, "One JSON object instead of text");
    app.add_subcommand("openapi", "Print the OpenAPI document");
    add_policy(*app.add_subcommand("iam-policy", "Print the least-privilege IAM policy of the product"),
               flags);
    app.add_subcommand("version", "Print the version");
    try {
        app.parse(argc, argv);
        const FlagFault fault = policy_flags_fault(flags.policy, flags.region);
        if (!fault.flag.empty()) throw CLI::ValidationError(fault.flag, fault.message);
    } catch (const CLI::ParseError& error) {
        constexpr int kUsage = 2;
        flags.exit_code = app.exit(error, std::cout, std::cerr) == 0 ? 0 : kUsage;
        return flags;
    }
    flags.command = app.get_subcommands().front()->get_name();
    if (flags.command == "call") flags.arguments = call->remaining();
    if (flags.data_dir.empty()) flags.data_dir = default_data_dir();
    return flags;
}

}  // namespace instantstart::server
