"""The groups that Pulumi is run with. Data only."""

from __future__ import annotations

from lockstep import versions
from toolchain.group import Asset, Copy, Group, Program, architecture, github_release, system

SOURCE = "github.com/pulumi"


def pulumi() -> Group:
    """The command line, with its Python language host and the scripts that this calls."""
    version = versions.PULUMI
    variables = (f"{SOURCE}/pulumi/sdk/v3/go/common/version.Version=v{version}",)
    host = "pulumi-language-python"
    scripts = {
        f"{host}-exec": f"python/cmd/{host}-exec",
        "pulumi-resource-pulumi-python": "python/dist/pulumi-resource-pulumi-python",
    }
    programs = (
        Program("pulumi", "pulumi", f"{SOURCE}/pulumi/pkg/v3/cmd/pulumi", variables),
        Program(host, host, f"{SOURCE}/pulumi/sdk/python/cmd/{host}/v3", variables),
    )
    release = github_release("pulumi/pulumi", version)
    processor = {"amd64": "x64", "arm64": "arm64"}[architecture()]
    return Group(
        name="pulumi",
        version=version,
        programs=programs,
        gigabytes=3.5,
        minutes=6,
        copies=tuple(
            Copy("pulumi", f"{SOURCE}/pulumi/sdk/v3", source, f"bin/{name}")
            for name, source in scripts.items()
        ),
        assets=(
            Asset(
                f"{release}/pulumi-v{version}-{system()}-{processor}.tar.gz",
                f"{release}/pulumi-{version}-checksums.txt",
                members=tuple(f"pulumi/{name}" for name in (*(p.name for p in programs), *scripts)),
            ),
        ),
    )


def _plugin_release(name: str, version: str) -> tuple[Asset, ...]:
    release = github_release(f"pulumi/pulumi-{name}", version)
    program = f"pulumi-resource-{name}"
    return (
        Asset(
            f"{release}/{program}-v{version}-{system()}-{architecture()}.tar.gz",
            f"{release}/pulumi-{name}_{version}_checksums.txt",
            members=(program,),
        ),
    )


def pulumi_command() -> Group:
    """The plugin that runs local commands."""
    version = versions.PULUMI_COMMAND
    source = f"{SOURCE}/pulumi-command/provider"
    program = "pulumi-resource-command"
    variables = (f"{source}/pkg/version.Version=v{version}",)
    return Group(
        name="pulumi-command",
        version=version,
        programs=(Program(program, "pulumi-command", f"{source}/cmd/{program}", variables),),
        gigabytes=0.5,
        minutes=1,
        assets=_plugin_release("command", version),
    )


def pulumi_kubernetes() -> Group:
    """The plugin that talks to Kubernetes."""
    version = versions.PULUMI_KUBERNETES
    module = "pulumi-kubernetes"
    source = f"{SOURCE}/pulumi-kubernetes/provider/v4"
    program = "pulumi-resource-kubernetes"
    variables = (f"{source}/pkg/version.Version=v{version}",)
    return Group(
        name=module,
        version=version,
        programs=(Program(program, module, ".", variables),),
        gigabytes=3.5,
        minutes=8,
        embeds=tuple(
            Copy(module, source, f"cmd/{program}/{name}", name)
            for name in ("schema.json", "terraform-mapping.json")
        ),
        assets=_plugin_release("kubernetes", version),
    )
