# Real kind where no image can be pulled: the node image, and the tests on it. Both need root.
.PHONY: kind-image e2e-kind

kind-image: $(READY) ## build kind's node image from package registries (root, opt-in)
	@.venv/bin/lockstep kind-image

e2e-kind: $(READY) ## the scenarios on real kind; needs root and the node image
	@$(PY) -m pytest tests/e2e_kind
