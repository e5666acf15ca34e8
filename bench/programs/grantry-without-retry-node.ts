// Beside grantry-node: what it costs that a client which lost the answer to a refresh may ask again. The peers and the limit do not offer it.
import { nodeRuntime, serve } from '@grantry/adapters/node'
import { readSetting, sayReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const provider = await openGrantry(setting, nodeRuntime, { retryWindow: 0 })
const { port } = await serve(provider)
sayReady({ port, tokens: await grantryTokens(provider, setting) })
