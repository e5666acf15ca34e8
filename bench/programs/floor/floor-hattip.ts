import { createServer } from '@hattip/adapter-node'
import { reportReady } from '../../setting.ts'
import { floorFetch } from './response.ts'

const response = floorFetch()
const server = createServer(({ request }) => response(request), { origin: 'http://127.0.0.1', trustProxy: false })
server.listen(0, '127.0.0.1', () => reportReady((server.address() as { port: number }).port))
