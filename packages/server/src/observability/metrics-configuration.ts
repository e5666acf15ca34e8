import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { numeric } from '../numeric.ts'

const hostName = v.pipe(
  v.string('must be a host name'),
  v.regex(
    /^[a-z\d_](?:[\w-]*[a-z\d_])?(?:\.[a-z\d_](?:[\w-]*[a-z\d_])?)*$/iu,
    'must be a host name without a port, like "grantry.internal"',
  ),
)

export const listenerSchema = configurationObject({
  /** The port of a listener for metrics only. */
  port: v.pipe(
    numeric('must be a port'),
    v.integer('must be a port'),
    v.minValue(0, 'must be a port from 0 to 65535'),
    v.maxValue(65_535, 'must be a port from 0 to 65535'),
  ),
  /** The address on which it listens. */
  host: v.optional(v.pipe(v.string('must be an address'), v.nonEmpty('must be an address')), '127.0.0.1'),
  /** Names in the URL of a scrape, beside `localhost` and `host`. */
  allowedHosts: v.optional(v.array(hostName, 'must be an array of host names'), []),
})

type Input = boolean | v.InferInput<typeof listenerSchema>
/**
 * `true`: `/metrics` on the port of the server, for callers on this machine only. `{ port, host, allowedHosts }`: a
 * separate listener that accepts requests for an IP address, `localhost`, `host` and the names in `allowedHosts`.
 * `false`: no metrics.
 */
export type MetricsConfiguration = boolean | v.InferOutput<typeof listenerSchema>

/** Chosen by the type of the value. The errors of a union would not name the path. */
export const metricsSchema: v.GenericSchema<Input, MetricsConfiguration> = v.lazy((metrics) =>
  typeof metrics === 'object' && metrics !== null
    ? listenerSchema
    : v.boolean('must be true, false, or { "port": 9464, "host": "127.0.0.1" }'),
) as v.GenericSchema<Input, MetricsConfiguration>
