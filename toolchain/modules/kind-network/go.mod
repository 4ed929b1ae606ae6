module lockstep/tools/kind-network

go 1.25.0
