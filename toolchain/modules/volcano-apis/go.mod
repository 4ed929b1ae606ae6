module lockstep/tools/volcano-apis

go 1.26.0

require volcano.sh/apis v1.14.0
