// Compared with grantry-node, shows the cost of the retry window for refreshes. The peers and the limit do not support
// retries.
import { nodeRuntime, serve } from '@grantry/adapters/node'
import { readSetting, reportReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const provider = await openGrantry(setting, nodeRuntime, { retryWindow: 0 })
const { port } = await serve(provider)
reportReady({ port, tokens: await grantryTokens(provider, setting) })
