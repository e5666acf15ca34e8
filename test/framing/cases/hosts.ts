import type { FramingCase } from '../framing-case.ts'
import { get, tokenRequest } from '../requests.ts'

const refused = [[400]] as const
const right = [[200]] as const
const withHosts = (...hosts: string[]): string => tokenRequest({ hosts })

/** RFC 9112 section 3.2: a missing, repeated or malformed Host (not `uri-host [":" port]`) MUST get 400. */
export const hostCases: readonly FramingCase[] = [
  { name: 'one host', send: [withHosts('Host: id.example.com')], responses: right },
  { name: 'a host and a port', send: [withHosts('Host: id.example.com:8443')], responses: right },
  { name: 'an IPv6 address', send: [withHosts('Host: [::1]:8443')], responses: right },
  { name: 'a foreign host', send: [withHosts('Host: evil.example')], responses: right },
  // RFC 9112 section 3.2: a client sends an empty field when the target has no authority.
  { name: 'an empty host', send: [withHosts('Host:')], responses: [[200], [400]] },
  { name: 'no host', send: [withHosts()], responses: refused },
  { name: 'no host, HTTP/1.0', send: [tokenRequest({ version: 'HTTP/1.0', hosts: [] })], responses: right },
  {
    name: 'no host, HTTP/1.0, on several connections',
    send: [tokenRequest({ version: 'HTTP/1.0', hosts: [] })],
    responses: right,
  },
  { name: 'two hosts', send: [withHosts('Host: id.example.com', 'Host: evil.example')], responses: refused },
  { name: 'the same host twice', send: [withHosts('Host: x', 'host: x')], responses: refused },
  { name: 'userinfo', send: [withHosts('Host: good@evil')], responses: refused },
  { name: 'userinfo with a password', send: [withHosts('Host: id.example.com:x@evil')], responses: refused },
  { name: 'a space', send: [withHosts('Host: a b')], responses: refused },
  { name: 'a path', send: [withHosts('Host: id.example.com/connect')], responses: refused },
  { name: 'a query', send: [withHosts('Host: id.example.com?x')], responses: refused },
  { name: 'a fragment', send: [withHosts('Host: id.example.com#x')], responses: refused },
  { name: 'a backslash', send: [withHosts('Host: id.example.com\\evil')], responses: refused },
  { name: 'a scheme', send: [withHosts('Host: https://id.example.com')], responses: refused },
  { name: 'a list', send: [withHosts('Host: id.example.com, evil.example')], responses: refused },
  { name: 'a port that is not a number', send: [withHosts('Host: id.example.com:x')], responses: refused },
  { name: 'an open bracket', send: [withHosts('Host: [::1')], responses: refused },
  { name: 'bytes beyond ASCII', send: [withHosts('Host: \u00e9vil')], responses: refused },
  { name: 'markup', send: [withHosts('Host: <script>')], responses: refused },
  {
    name: 'foreign Host and forwarding headers do not change the issuer',
    send: [
      get(
        '/.well-known/openid-configuration',
        'X-Forwarded-Host: evil.example',
        'X-Forwarded-Proto: javascript',
      ).replace('Host: id.example.com', 'Host: evil.example'),
    ],
    responses: right,
    check: ([response]) => {
      const { issuer, token_endpoint } = JSON.parse(response?.body ?? '')
      if (issuer !== 'https://id.example.com' || !token_endpoint.startsWith(issuer))
        throw new Error(`the request changed the issuer: ${response?.body}`)
    },
  },
]
