import * as adapter from '@grantry/adapters/deno'
import type { Runtime } from '@grantry/core'
import { readSetting, sayReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const { denoRuntime } = adapter as { readonly denoRuntime?: Partial<Runtime> }
const provider = await openGrantry(setting, denoRuntime ?? {})
const { port } = await adapter.serve(provider)
sayReady({ port, tokens: await grantryTokens(provider, setting) })
