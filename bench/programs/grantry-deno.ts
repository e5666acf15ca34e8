import { denoRuntime, serve } from '@grantry/adapters/deno'
import { readSetting, reportReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const provider = await openGrantry(setting, denoRuntime)
const { port } = await serve(provider)
reportReady({ port, tokens: await grantryTokens(provider, setting) })
