import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { paths } from '../operations.ts'
import { readSetting, reportReady } from '../setting.ts'
import { createLimit } from './limit.ts'
import { headers } from './limit-parts.ts'

const limit = createLimit(readSetting())

function end(res: ServerResponse, work: () => string): void {
  let body: string
  try {
    body = work()
  } catch (error) {
    res.writeHead(400, headers).end(String(error))
    return
  }
  res.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) })
  res.end(body)
}

const server = createServer((req, res) => {
  const { authorization = '' } = req.headers
  if (req.method === 'GET') return end(res, () => limit.userinfo(authorization))
  const operate = req.url === paths.introspection ? limit.introspection : limit.token
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => end(res, () => operate(authorization, Buffer.concat(chunks).toString())))
})
server.listen(0, '127.0.0.1', () => {
  reportReady((server.address() as AddressInfo).port, limit.issue)
})
