import { nodeRuntime, serve } from '@grantry/adapters/node'
import { contractProvider, trustedProxies } from '../provider.ts'

const running = await serve(await contractProvider(nodeRuntime), { trustedProxies })
process.once('SIGTERM', () => void running.close(1))
process.stdout.write(`listening on ${running.port}\n`)
