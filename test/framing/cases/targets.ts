import type { FramingCase } from '../framing-case.ts'
import { close, get, head, host, tokenRequest } from '../requests.ts'

// RFC 9112 section 3: 400, another status if the server parses the line differently, or a close without a response.
const refused = [[400], [505], []] as const
const absent = [[404]] as const
const right = [[200]] as const
const at = (target: string): string => tokenRequest({ target })

/** RFC 9112 section 3.2: the four forms of a target, and invalid targets. */
export const targetCases: readonly FramingCase[] = [
  { name: 'the origin form with a query', send: [at('/connect/token?x=1')], responses: right },
  { name: 'the absolute form', send: [at('http://id.example.com/connect/token')], responses: right },
  { name: 'the absolute form of a foreign host', send: [at('http://evil.example/connect/token')], responses: right },
  { name: 'the absolute form without a path', send: [get('http://id.example.com')], responses: absent },
  {
    name: 'the absolute form of a foreign host does not change the issuer',
    send: [get('https://evil.example/.well-known/openid-configuration')],
    responses: right,
    check: ([response]) => {
      if (response?.body.includes('evil')) throw new Error('the request changed the issuer')
    },
  },
  {
    name: 'the absolute form of another scheme',
    send: [at('ftp://id.example.com/connect/token')],
    responses: [[400], [404]],
  },
  { name: 'the authority form', send: [at('id.example.com:443')], responses: [[400], [404]] },
  {
    name: 'the authority form with CONNECT',
    send: [head('CONNECT evil.example:443 HTTP/1.1', 'Host: evil.example:443', close)],
    responses: [[400], [404], [405], [501], []],
  },
  {
    name: 'CONNECT of a path',
    send: [head('CONNECT /connect/token HTTP/1.1', host, close)],
    responses: [[400], [404], [405], [501], []],
  },
  {
    name: 'CONNECT followed by a hidden request',
    send: [head('CONNECT evil.example:443 HTTP/1.1', 'Host: evil.example:443', close), tokenRequest()],
    responses: [[400], [404], [405], [501], []],
  },
  // RFC 9110 section 9.3.7: the asterisk form is about the server as a whole.
  {
    name: 'the asterisk form with OPTIONS',
    send: [head('OPTIONS * HTTP/1.1', host, close)],
    responses: [[200], [204], [400], [404], [405]],
  },
  { name: 'the asterisk form with POST', send: [at('*')], responses: [[400], [404]] },
  { name: 'a path without a slash', send: [at('connect/token')], responses: [[400], [404]] },
  { name: 'a query only', send: [at('?x')], responses: [[400], [404]] },
  { name: 'no target', send: [at('')], responses: refused },
  { name: 'two slashes and a host', send: [at('//evil.example/connect/token')], responses: [[400], [404]] },
  { name: 'two slashes and our host', send: [at('//id.example.com/connect/token')], responses: [[400], [404]] },
  { name: 'two slashes', send: [at('//connect/token')], responses: [[400], [404]] },
  { name: 'a slash and a backslash', send: [at('/\\evil.example/connect/token')], responses: [[400], [404]] },
  { name: 'a backslash instead of a slash', send: [at('/connect\\token')], responses: [[400], [404]] },
  { name: 'a double slash inside', send: [at('/connect//token')], responses: absent },
  { name: 'a slash at the end', send: [at('/connect/token/')], responses: absent },
  { name: 'a path in another case', send: [at('/Connect/Token')], responses: absent },
  { name: 'a path parameter', send: [at('/connect/token;x=1')], responses: absent },
  // A proxy that protects a path compares text, so other spellings of the path must not match here.
  { name: 'an encoded slash', send: [at('/connect%2ftoken')], responses: absent },
  { name: 'an encoded NUL', send: [at('/connect/token%00')], responses: [[400], [404]] },
  { name: 'a percent sign alone', send: [at('/%')], responses: [[400], [404]] },
  { name: 'a fragment', send: [at('/connect/token#x')], responses: [[200], [400], [404]] },
  { name: 'a NUL', send: [at('/connect/token\u0000')], responses: refused },
  { name: 'a control character', send: [at('/connect/\u0001token')], responses: refused },
  { name: 'a tab', send: [at('/connect/\ttoken')], responses: refused },
  { name: 'DEL', send: [at('/connect/token\u007f')], responses: [[400], [404]] },
  { name: 'a space', send: [at('/connect/token x')], responses: refused },
  { name: 'UTF-8', send: [Buffer.from(at('/connect/tok\u00e9n'), 'utf8')], responses: [[400], [404]] },
  { name: 'invalid UTF-8', send: [at('/connect/\u00ff\u00fe')], responses: [[400], [404]] },
  { name: '8,000 bytes', send: [get(`/${'x'.repeat(8000)}`)], responses: [[404], [414]] },
  { name: '100,000 bytes', send: [get(`/${'x'.repeat(100_000)}`)], responses: [[400], [414], [431], []] },
]
