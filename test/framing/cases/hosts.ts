import type { FramingCase } from '../framing-case.ts'
import { get, tokenRequest } from '../requests.ts'

const refused = [[400]] as const
const right = [[200]] as const
const withHosts = (...hosts: string[]): string => tokenRequest({ hosts })

/** RFC 9112 section 3.2: a missing, repeated or malformed Host (not `uri-host [":" port]`) MUST get 400. */
export const hostCases: readonly FramingCase[] = [
  { name: 'one host', send: [withHosts('Host: id.example.com')], answers: right },
  { name: 'a host and a port', send: [withHosts('Host: id.example.com:8443')], answers: right },
  { name: 'an IPv6 address', send: [withHosts('Host: [::1]:8443')], answers: right },
  { name: 'a foreign host', send: [withHosts('Host: evil.example')], answers: right },
  // RFC 9112 section 3.2: a client sends an empty field when the target has no authority.
  { name: 'an empty host', send: [withHosts('Host:')], answers: [[200], [400]] },
  { name: 'no host', send: [withHosts()], answers: refused },
  { name: 'no host, HTTP/1.0', send: [tokenRequest({ version: 'HTTP/1.0', hosts: [] })], answers: right },
  {
    name: 'no host, HTTP/1.0, on several connections',
    send: [tokenRequest({ version: 'HTTP/1.0', hosts: [] })],
    answers: right,
  },
  { name: 'two hosts', send: [withHosts('Host: id.example.com', 'Host: evil.example')], answers: refused },
  { name: 'the same host twice', send: [withHosts('Host: x', 'host: x')], answers: refused },
  { name: 'userinfo', send: [withHosts('Host: good@evil')], answers: refused },
  { name: 'userinfo with a password', send: [withHosts('Host: id.example.com:x@evil')], answers: refused },
  { name: 'a space', send: [withHosts('Host: a b')], answers: refused },
  { name: 'a path', send: [withHosts('Host: id.example.com/connect')], answers: refused },
  { name: 'a query', send: [withHosts('Host: id.example.com?x')], answers: refused },
  { name: 'a fragment', send: [withHosts('Host: id.example.com#x')], answers: refused },
  { name: 'a backslash', send: [withHosts('Host: id.example.com\\evil')], answers: refused },
  { name: 'a scheme', send: [withHosts('Host: https://id.example.com')], answers: refused },
  { name: 'a list', send: [withHosts('Host: id.example.com, evil.example')], answers: refused },
  { name: 'a port that is not a number', send: [withHosts('Host: id.example.com:x')], answers: refused },
  { name: 'an open bracket', send: [withHosts('Host: [::1')], answers: refused },
  { name: 'bytes beyond ASCII', send: [withHosts('Host: \u00e9vil')], answers: refused },
  { name: 'markup', send: [withHosts('Host: <script>')], answers: refused },
  {
    name: 'foreign Host and forwarding headers do not change the issuer',
    send: [
      get(
        '/.well-known/openid-configuration',
        'X-Forwarded-Host: evil.example',
        'X-Forwarded-Proto: javascript',
      ).replace('Host: id.example.com', 'Host: evil.example'),
    ],
    answers: right,
    check: ([answer]) => {
      const { issuer, token_endpoint } = JSON.parse(answer?.body ?? '')
      if (issuer !== 'https://id.example.com' || !token_endpoint.startsWith(issuer))
        throw new Error(`the request changed the issuer: ${answer?.body}`)
    },
  },
]
