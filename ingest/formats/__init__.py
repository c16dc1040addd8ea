"""One module per format: a pandera schema and a `Format`. The tuple is the registry, in order."""

from assay.ingest.formats import (
    all_reduce_bench,
    arguments,
    attention_table,
    collective_table,
    deepflow_config,
    deepflow_dump,
    deepspeed,
    gemm_table,
    layer_estimates,
    markdown_table,
    megatron_iteration,
    megatron_memory,
    megatron_parameters,
    megatron_timers,
    megatron_validation,
    nccl_tests,
    step_rate,
    ulysses_trace,
)
from assay.ingest.types import Format

FORMATS: tuple[Format, ...] = (
    megatron_iteration.FORMAT,
    megatron_validation.FORMAT,
    megatron_timers.FORMAT,
    megatron_memory.FORMAT,
    megatron_parameters.FORMAT,
    deepspeed.FORMAT,
    step_rate.FORMAT,
    arguments.FORMAT,
    markdown_table.FORMAT,
    gemm_table.FORMAT,
    attention_table.FORMAT,
    collective_table.FORMAT,
    nccl_tests.FORMAT,
    all_reduce_bench.FORMAT,
    deepflow_dump.FORMAT,
    deepflow_config.FORMAT,
    layer_estimates.FORMAT,
    ulysses_trace.FORMAT,
)
