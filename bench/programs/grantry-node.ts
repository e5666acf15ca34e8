import { nodeRuntime, serve } from '@grantry/adapters/node'
import { readSetting, reportReady } from '../setting.ts'
import { grantryIssue, openGrantry } from './grantry.ts'

const provider = await openGrantry(readSetting(), nodeRuntime)
const { port } = await serve(provider)
reportReady(port, grantryIssue(provider))
