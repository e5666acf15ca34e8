// The library on Node with the PostgreSQL driver, and users in a table of it, set up as the guides show.
import { nodeRuntime, serve } from '@grantry/adapters/node'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { sqlUsers } from '@grantry/users/sql'
import { grantryIssue, openGrantry } from '../programs/grantry.ts'
import { readSetting, reportReady } from '../setting.ts'
import { tableOptions } from './users-table.ts'

const setting = readSetting()
const { storeUrl: url = '' } = setting
const users = sqlUsers(tableOptions(url))
await users.open()
const provider = await openGrantry(setting, nodeRuntime, postgresqlDriver({ url }), users)
const { port } = await serve(provider)
reportReady(port, grantryIssue(provider, setting))
