import { denoRuntime, serve } from '@grantry/adapters/deno'
import { readSetting, sayReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const provider = await openGrantry(setting, denoRuntime)
const { port } = await serve(provider)
sayReady({ port, tokens: await grantryTokens(provider, setting) })
