import * as adapter from '@grantry/adapters/bun'
import type { Runtime } from '@grantry/core'
import { readSetting, sayReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const { bunRuntime } = adapter as { readonly bunRuntime?: Partial<Runtime> }
const provider = await openGrantry(setting, bunRuntime ?? {})
const { port } = await adapter.serve(provider)
sayReady({ port, tokens: await grantryTokens(provider, setting) })
