"""Packages of the distribution; everything else is in pyproject.toml.

In a checkout the Pulumi program imports the folder `components`. Installed, that folder is the
package lockstep.components, which cannot collide with a package `components` of a user.
"""

from setuptools import find_packages, setup

COMPONENTS = "lockstep.components"

setup(
    packages=[
        *find_packages(include=["lockstep", "lockstep.*", "toolchain", "toolchain.*"]),
        COMPONENTS,
        *(f"{COMPONENTS}.{name}" for name in find_packages("components")),
    ],
    package_dir={COMPONENTS: "components"},
)
