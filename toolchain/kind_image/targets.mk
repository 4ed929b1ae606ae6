# Real kind where no image can be pulled: the node image, and the tests on it. Both need root.
.PHONY: kind-image e2e-kind

kind-image: $(READY) ## build kind's node image from package registries (root, Docker; opt-in)
	@$(PY) -m lockstep kind-image

e2e-kind: $(READY) ## the scenarios on real kind; skipped without root and the node image
	@$(PY) -m pytest -rs tests/e2e_kind
