import { FastResponse, serve } from 'srvx/node'
import { floorFetch } from '../programs/floor/response.ts'
import { reportReady } from '../setting.ts'

const server = serve({ fetch: floorFetch(FastResponse), port: 0, hostname: '127.0.0.1', silent: true })
await server.ready()
reportReady(Number(new URL(server.url ?? '').port))
