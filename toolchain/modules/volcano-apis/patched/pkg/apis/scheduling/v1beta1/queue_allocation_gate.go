package v1beta1

// QueueAllocationGateKey is what Volcano 1.15 needs and volcano.sh/apis 1.14.0 lacks.
const QueueAllocationGateKey = "scheduling.volcano.sh/queue-allocation-gate"
