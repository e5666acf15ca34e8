// The library on Node with the PostgreSQL driver, set up as its guide shows.
import { nodeRuntime, serve } from '@grantry/adapters/node'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { readSetting, reportReady } from '../setting.ts'
import { grantryIssue, openGrantry } from './grantry.ts'

const setting = readSetting()
const provider = await openGrantry(setting, nodeRuntime, postgresqlDriver({ url: setting.storeUrl ?? '' }))
const { port } = await serve(provider)
reportReady(port, grantryIssue(provider))
