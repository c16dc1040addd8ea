"""One module per format: a pandera schema and a `Format`. The tuple is the registry, in order."""

from assay.ingest.formats import (
    all_reduce_bench,
    attention_table,
    collective_table,
    deepspeed,
    deepspeed_comms,
    gemm_table,
    job_event,
    markdown_table,
    mlperf_log,
    nccl_tests,
    operator_table,
    step_rate,
)
from assay.ingest.formats.arguments import arguments
from assay.ingest.formats.deepflow import deepflow_config, deepflow_dump
from assay.ingest.formats.layers import layer_estimates
from assay.ingest.formats.megatron import (
    megatron_iteration,
    megatron_memory,
    megatron_parameters,
    megatron_timers,
    megatron_validation,
)
from assay.ingest.formats.steps import generic_step, step_history
from assay.ingest.formats.traces import kernel_list, kineto, nsys, rocprof
from assay.ingest.formats.ulysses import ulysses_trace
from assay.ingest.schema.format import Format

FORMATS: tuple[Format, ...] = (
    megatron_iteration.FORMAT,
    megatron_validation.FORMAT,
    megatron_timers.FORMAT,
    megatron_memory.FORMAT,
    megatron_parameters.FORMAT,
    deepspeed.FORMAT,
    deepspeed_comms.FORMAT,
    step_rate.FORMAT,
    mlperf_log.FORMAT,
    arguments.FORMAT,
    job_event.FORMAT,
    markdown_table.FORMAT,
    gemm_table.FORMAT,
    attention_table.FORMAT,
    collective_table.FORMAT,
    operator_table.FORMAT,
    nccl_tests.FORMAT,
    all_reduce_bench.FORMAT,
    deepflow_dump.FORMAT,
    deepflow_config.FORMAT,
    layer_estimates.FORMAT,
    ulysses_trace.FORMAT,
    rocprof.FORMAT,
    kernel_list.FORMAT,
    kineto.FORMAT,
    nsys.FORMAT,
    step_history.FORMAT,
    generic_step.FORMAT,
)
