import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { reportReady } from '../../setting.ts'
import { floorHeaders, floorResponse } from './response.ts'

const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const body = floorResponse(Buffer.concat(chunks).toString())
    res.writeHead(200, { ...floorHeaders, 'content-length': Buffer.byteLength(body) })
    res.end(body)
  })
})
server.listen(0, '127.0.0.1', () => reportReady((server.address() as AddressInfo).port))
