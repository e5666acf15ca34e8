import process from 'node:process'
import { denoRuntime, serve } from '@grantry/adapters/deno'
import { contractProvider, trustedProxies } from '../provider.ts'

const running = await serve(await contractProvider(denoRuntime), { trustedProxies })
process.once('SIGTERM', () => void running.close(1))
process.stdout.write(`listening on ${running.port}\n`)
