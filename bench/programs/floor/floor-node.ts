import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sayReady } from '../../setting.ts'
import { floorAnswer, floorHeaders } from './answer.ts'

const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    const body = floorAnswer(Buffer.concat(chunks).toString())
    res.writeHead(200, { ...floorHeaders, 'content-length': Buffer.byteLength(body) })
    res.end(body)
  })
})
server.listen(0, '127.0.0.1', () => sayReady({ port: (server.address() as AddressInfo).port, tokens: [] }))
