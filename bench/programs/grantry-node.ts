import * as adapter from '@grantry/adapters/node'
import type { Runtime } from '@grantry/core'
import { readSetting, sayReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const { nodeRuntime } = adapter as { readonly nodeRuntime?: Partial<Runtime> }
const provider = await openGrantry(setting, nodeRuntime ?? {})
const { port } = await adapter.serve(provider)
sayReady({ port, tokens: await grantryTokens(provider, setting) })
