// The ready server in its own process, with the given configuration. Prints its port, and ends with its parent.

import { parseConfiguration } from '@grantry/core'
import type { LoadedConfiguration } from '../../../packages/server/src/configuration/load.ts'
import { configurationSchema } from '../../../packages/server/src/configuration/schema.ts'
import { startServer } from '../../../test/support/patient-server.ts'

const configuration = parseConfiguration(configurationSchema, JSON.parse(process.argv[2] ?? ''), 'configuration')
const loaded = { configuration, directory: '.', file: 'configuration' } as LoadedConfiguration
const server = await startServer({ loaded, port: 0, observe() {} })
process.on('disconnect', () => process.exit(0))
process.send?.({ port: server.running.port })
