import { bunRuntime, serve } from '@grantry/adapters/bun'
import { contractProvider, trustedProxies } from '../provider.ts'

const running = await serve(await contractProvider(bunRuntime), { trustedProxies })
process.once('SIGTERM', () => void running.close(1))
process.stdout.write(`listening on ${running.port}\n`)
