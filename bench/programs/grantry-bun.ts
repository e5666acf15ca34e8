import { bunRuntime, serve } from '@grantry/adapters/bun'
import { readSetting, reportReady } from '../setting.ts'
import { grantryIssue, openGrantry } from './grantry.ts'

const provider = await openGrantry(readSetting(), bunRuntime)
const { port } = await serve(provider)
reportReady(port, grantryIssue(provider))
