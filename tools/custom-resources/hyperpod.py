#!/usr/bin/env python3
"""Makes CustomResourceDefinitions of the HyperPod kinds from AWS's published Python package, whose typed models are what its own client
enforces. The definitions themselves ship inside EKS add-ons only.

Usage: tools/custom-resources/hyperpod.py FOLDER. Needs pip and pydantic; the package is fetched without its dependencies."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = "sagemaker-hyperpod==3.12.0"
TRAINING, INFERENCE = "sagemaker.amazonaws.com", "inference.sagemaker.aws.amazon.com"
# file, model of the spec, model of the status, group, kind
KINDS = [
    ("training/config/hyperpod_pytorch_job_unified_config.py", "_HyperPodPytorchJob", "HyperPodPytorchJobStatus", TRAINING, "HyperPodPyTorchJob"),
    ("inference/config/hp_endpoint_config.py", "_HPEndpoint", "InferenceEndpointConfigStatus", INFERENCE, "InferenceEndpointConfig"),
    ("inference/config/hp_jumpstart_endpoint_config.py", "_HPJumpStartEndpoint", "JumpStartModelStatus", INFERENCE, "JumpStartModel"),
]
KEPT = ("type", "format", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "required")


def structural(schema, definitions):
    """A pydantic JSON Schema as the structural schema that a definition wants."""
    if "$ref" in schema:
        return structural(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    if "allOf" in schema and len(schema["allOf"]) == 1:
        return structural(schema["allOf"][0], definitions)
    if "anyOf" in schema:
        choices = [choice for choice in schema["anyOf"] if choice.get("type") != "null"]
        if {choice.get("type") for choice in choices} == {"integer", "string"}:
            return {"x-kubernetes-int-or-string": True}
        if len(choices) == 1:
            return structural(choices[0], definitions)
        return {"x-kubernetes-preserve-unknown-fields": True}
    out = {key: schema[key] for key in KEPT if key in schema}
    if "const" in schema:
        out.update(type="string", enum=[schema["const"]])
    if "properties" in schema:
        out["properties"] = {name: structural(inner, definitions) for name, inner in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        out["additionalProperties"] = structural(schema["additionalProperties"], definitions)
    elif out.get("type") == "object" and "properties" not in out:
        out["x-kubernetes-preserve-unknown-fields"] = True
    if "items" in schema:
        out["items"] = structural(schema["items"], definitions)
    if "type" not in out:
        out["x-kubernetes-preserve-unknown-fields"] = True
    return out


def of_model(model):
    schema = model.model_json_schema(by_alias=False)
    return structural(schema, schema.get("$defs", {}))


def definition(group, kind, spec, status):
    plural = kind.lower() + "s"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                                       "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}, "spec": spec, "status": status}}}}]}}


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "-d", work, PACKAGE], check=True)
        zipfile.ZipFile(next(pathlib.Path(work).glob("*.whl"))).extractall(work)
        for file, spec, status, group, kind in KINDS:
            module = load(pathlib.Path(work) / "sagemaker/hyperpod" / file)
            made = definition(group, kind, of_model(getattr(module, spec)), of_model(getattr(module, status)))
            (folder / f"{group}_{kind.lower()}s.yaml").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
