module lockstep/tools/kind-pause

go 1.25.0
