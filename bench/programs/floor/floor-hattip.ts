import { createServer } from '@hattip/adapter-node'
import { sayReady } from '../../setting.ts'
import { floorFetch } from './answer.ts'

const answer = floorFetch()
const server = createServer(({ request }) => answer(request), { origin: 'http://127.0.0.1', trustProxy: false })
server.listen(0, '127.0.0.1', () => sayReady({ port: (server.address() as { port: number }).port, tokens: [] }))
