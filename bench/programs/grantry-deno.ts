import { denoRuntime, serve } from '@grantry/adapters/deno'
import { readSetting, reportReady } from '../setting.ts'
import { grantryIssue, openGrantry } from './grantry.ts'

const provider = await openGrantry(readSetting(), denoRuntime)
const { port } = await serve(provider)
reportReady(port, grantryIssue(provider))
