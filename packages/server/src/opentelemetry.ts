export { openTelemetry, type Tracing } from './observability/open-telemetry.ts'
