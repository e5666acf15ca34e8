import { describe, expect, it } from 'vitest'
import { createResponseReader } from '../../bench/load/response-reader.ts'

const complete = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nContent-Length: 11\r\n\r\n{"a":"b c"}'
const chunked = 'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n6\r\n"b c"}\r\n0\r\n\r\n'

describe('the response parser of the load generator', () => {
  it.each([
    ['with a length', complete, 200],
    ['in chunks', chunked, 201],
  ])('parses a response %s, wherever it is split', (_, text, status) => {
    const read = createResponseReader()
    for (let cut = 1; cut < text.length; cut += 1) {
      expect(read(text.slice(0, cut))).toBeUndefined()
      expect(read(text.slice(cut))).toEqual({ status, body: '{"a":"b c"}' })
    }
  })

  it.each([
    ['more than one response', complete + complete],
    ['a response without framing', 'HTTP/1.1 200 OK\r\n\r\n{}'],
    ['a response that is not HTTP', 'SSH-2.0-x\r\n\r\n'],
    ['a chunk without a size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n'],
  ])('rejects %s', (_, text) => {
    expect(() => createResponseReader()(text)).toThrow()
  })
})
