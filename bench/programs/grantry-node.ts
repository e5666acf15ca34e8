import { nodeRuntime, serve } from '@grantry/adapters/node'
import { readSetting, reportReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const provider = await openGrantry(setting, nodeRuntime)
const { port } = await serve(provider)
reportReady({ port, tokens: await grantryTokens(provider, setting) })
