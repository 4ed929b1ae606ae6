module lockstep/tools/kind-runtime

go 1.25.0
