import { bunRuntime, serve } from '@grantry/adapters/bun'
import { readSetting, reportReady } from '../setting.ts'
import { grantryTokens, openGrantry } from './grantry.ts'

const setting = readSetting()
const provider = await openGrantry(setting, bunRuntime)
const { port } = await serve(provider)
reportReady({ port, tokens: await grantryTokens(provider, setting) })
