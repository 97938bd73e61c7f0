// What the command line says, as plain values. flags.cc fills it: the only source that includes the flags
// library.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace instantstart::server {

struct ListenAddress {
    ListenAddress() = default;
    ListenAddress(std::string address, std::uint16_t port) : address(std::move(address)), port(port) {}
    std::string address;
    std::uint16_t port = 0;
};

struct TwinFlags {
    TwinFlags() = default;
    ListenAddress aws{"127.0.0.1", 3097}, kube{"127.0.0.1", 3098};
    double speed = 60;
    std::uint64_t seed = 1;
    bool fresh = false;
    bool zero_quotas = false;
};

// What the printed policy is limited to; what is empty is not limited.
struct PolicyFlags {
    PolicyFlags() = default;
    std::string account, partition, permissions_boundary;
    std::vector<std::string> execution_roles, kms_keys;
    bool custom_images = false, read_only = false;
    std::string format = "json";
};

struct Flags {
    Flags() = default;
    std::string command;  // "serve", "twin", …; "" where the flags were answered already (help, an error)
    int exit_code = 0;
    // serve and twin
    ListenAddress listen{"127.0.0.1", 3099};
    bool use_twin = true;
    TwinFlags twin;
    std::string region, data_dir, store_url, token_file, artifacts;
    bool read_only = false, insecure_listen = false;
    std::vector<std::string> allowed_hosts;
    std::string tls_cert, tls_key;
    int rate_mutations = -1, rate_queries = -1;
    std::string log_level = "info", log_format = "text";
    // clients of a running server
    std::string url;
    std::string operation;               // call; watch: the operation's id
    std::vector<std::string> arguments;  // call: what is left, --FIELD VALUE…
    std::string toolset;                 // mcp
    bool json = false;                   // doctor
    PolicyFlags policy;                  // iam-policy
};

Flags parse_flags(int argc, char** argv);
// $XDG_STATE_HOME/instantstart, else ~/.local/state/instantstart.
std::string default_data_dir();

}  // namespace instantstart::server
