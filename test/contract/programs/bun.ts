import { serve } from '@grantry/adapters/bun'
import { contractProvider } from '../provider.ts'

const running = await serve(await contractProvider())
process.once('SIGTERM', () => void running.close(1))
process.stdout.write(`listening on ${running.port}\n`)
