/**
 * Cases that Bun 1.4.5 handles before our code sees the request. It adds no `Host` to HTTP/1.0 without one; parses a
 * backslash as a slash; responds after the last chunk, before the trailers; keeps a connection open after a 413 and
 * reads the rest of the body; limits the time between two bytes of the headers, but not the total.
 */
export const bunDiffers: readonly string[] = [
  'no host, HTTP/1.0',
  'no host, HTTP/1.0, on several connections',
  'a backslash instead of a slash',
  '100-continue, HTTP/1.0',
  'a trailer',
  'a trailer with other credentials',
  'a trailer with a length',
  'a broken trailer',
  'unterminated trailers',
  'endless trailers',
  'an empty line between requests',
  'one byte over the limit, with a length',
  'one byte over the limit, in one chunk',
  'twenty times the limit, with a length',
  'twenty times the limit, in one chunk',
  'a length over the limit, without a body',
  'a length over the limit, sent in parts',
  'endless, in small chunks',
  'endless, in large chunks',
  'too large, followed by a hidden request',
  'too large, with a hidden request in it',
  'a pipelined 413 closes the connection',
  'a length over the limit, with Expect: 100-continue',
  'endless, of a wrong type',
  'endless, for an unknown endpoint',
  'endless, for a method without a body',
  'in the request line',
  'in the headers',
  'in a header',
  'in the trailers',
  'after a completed request',
  'byte by byte in the headers',
  'line by line in the headers',
  'trailer by trailer',
]

/**
 * Cases that Deno 2.9.5 (hyper) handles before our code sees the request. It requires no `Host`; parses a backslash as
 * a slash; serves HTTP/2 on the same port; keeps a connection open after a 413 until the rest of the body has arrived;
 * closes a connection with an unread body; has no time limit for headers.
 */
export const denoDiffers: readonly string[] = [
  'no host',
  'a backslash instead of a slash',
  'an upgrade to h2c named in Connection',
  '100-continue, HTTP/1.0',
  'the preface of HTTP/2',
  'the preface of HTTP/2 and a frame',
  'the length 9223372036854775808',
  'a size after a space',
  'an empty line between requests',
  'endless extensions on chunks of one byte',
  'a length over the limit, without a body',
  'a length over the limit, sent in parts',
  'endless, in small chunks',
  'endless, in large chunks',
  'a pipelined 413 closes the connection',
  'a length over the limit, with Expect: 100-continue',
  'refused for its type: the body is discarded and the connection reused',
  'after a 415',
  'half a request after a valid one',
  'endless, of a wrong type',
  'endless, for an unknown endpoint',
  'endless, for a method without a body',
  'in the request line',
  'in the headers',
  'in a header',
  'before the body',
  'in the body',
  'in a chunk',
  'before the last chunk',
  'in the trailers',
  'after a completed request',
  'byte by byte in the headers',
  'line by line in the headers',
  'byte by byte in the body',
  'chunk by chunk in the body',
  'trailer by trailer',
]

/**
 * Cases that the `node:https` of Deno 2.9.5 handles before our code. It refuses long extensions of chunks, and waits for the
 * rest of a request when the client has ended its side, until the time limit.
 */
export const denoTlsDiffers: readonly string[] = [
  'a long extension',
  'an endless extension',
  'a truncated chunk',
  'no last chunk',
  'unterminated trailers',
  'half-close before the body',
  'half-close in the body',
]
