// The library on Node with the Redis driver, set up as its guide shows.
import { nodeRuntime, serve } from '@grantry/adapters/node'
import { redisDriver } from '@grantry/storage-drivers/redis'
import { readSetting, reportReady } from '../setting.ts'
import { grantryIssue, openGrantry } from './grantry.ts'

const setting = readSetting()
const provider = await openGrantry(setting, nodeRuntime, redisDriver({ url: setting.storeUrl ?? '' }))
const { port } = await serve(provider)
reportReady(port, grantryIssue(provider))
