import { configurationObject } from '@grantry/core'
import * as v from 'valibot'

const place = configurationObject({
  port: v.pipe(
    v.number('must be a port'),
    v.integer('must be a port'),
    v.minValue(0, 'must be a port from 0 to 65535'),
    v.maxValue(65_535, 'must be a port from 0 to 65535'),
  ),
  host: v.optional(v.pipe(v.string('must be an address'), v.nonEmpty('must be an address')), '127.0.0.1'),
})

type Input = boolean | v.InferInput<typeof place>
/** `true`: on the port of the server, for this machine only. A place: a listener of their own. */
export type MetricsConfiguration = boolean | v.InferOutput<typeof place>

/** By what it looks like, not as a union: a mistake is then told with its path. */
export const metricsSchema: v.GenericSchema<Input, MetricsConfiguration> = v.lazy((metrics) =>
  typeof metrics === 'object' && metrics !== null
    ? place
    : v.boolean('must be true, false, or { "port": 9464, "host": "127.0.0.1" }'),
) as v.GenericSchema<Input, MetricsConfiguration>
