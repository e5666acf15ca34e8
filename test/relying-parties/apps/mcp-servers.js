// One MCP server behind `mcpAuth()` in each framework. Both generations of the official SDK read the token from it.
import { createServer } from 'node:http'
import { createResourceServer, mcpAuth } from '@grantry/resource-server'
import * as expressAuth from '@grantry/resource-server/express'
import * as fastifyAuth from '@grantry/resource-server/fastify'
import * as honoAuth from '@grantry/resource-server/hono'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { McpServer as OlderServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer, requireScopes } from '@modelcontextprotocol/server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'

const wellKnown = '/.well-known/oauth-protected-resource'
const about = { name: 'orders', version: '1.0.0' }
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] })
const known = ({ clientId, scopes, extra, resource }) => ({ clientId, scopes, sub: extra.sub, resource: resource.href })

function createOlderServer() {
  const server = new OlderServer(about)
  server.registerTool('whoami', {}, (extra) => text(known(extra.authInfo)))
  return server
}

function createNewServer() {
  const server = new McpServer(about)
  server.registerTool('whoami', {}, (context) => text(known(context.http.authInfo)))
  const scopeChallenge = requireScopes('mcp:tools', 'mcp:admin')
  server.registerTool('cancel', { scopeChallenge }, (context) => text(known(context.http.authInfo)))
  return server
}

/** Without sessions: each request has its own server. */
async function serveOlder(req, res, body) {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  await createOlderServer().connect(transport)
  await transport.handleRequest(req, res, body)
}

const listen = (server, port) => new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)))

export const servers = {
  async Express(options, port) {
    const app = express()
    app.use(['/.well-known', '/mcp'], expressAuth.mcpAuth(options))
    app.all('/mcp', (req, res) => serveOlder(req, res))
    app.get('/', (_req, res) => res.send('public'))
    return listen(createServer(app), port)
  },

  async Fastify(options, port) {
    const app = fastify()
    app.addHook('onRequest', fastifyAuth.mcpAuth(options))
    app.all('/mcp', (request, reply) => {
      reply.hijack()
      return serveOlder(request.raw, reply.raw, request.body)
    })
    await app.listen({ port, host: '127.0.0.1' })
    return app.server
  },

  async Hono(options, port) {
    const handler = createMcpHandler(createNewServer)
    const app = new Hono()
    app.use(honoAuth.mcpAuth(options))
    app.all('/mcp', (c) => handler.fetch(c.req.raw, { authInfo: honoAuth.authInfoOf(c) }))
    return listen(createServer(toNodeHandler(app)), port)
  },

  async Fetch(options, port) {
    const handler = createMcpHandler(createNewServer)
    return listen(createServer(toNodeHandler({ fetch: mcpAuth(options, handler.fetch) })), port)
  },

  async 'the middleware of SDK 1'(options, port) {
    const { scopes, ...settings } = options
    const api = createResourceServer(settings)
    const verifyAccessToken = (token) =>
      api.verify(token).catch((error) => {
        throw error.status === 401 ? new InvalidTokenError(error.message) : error
      })
    const app = express()
    app.use(wellKnown, expressAuth.requireToken(api))
    const resourceMetadataUrl = new URL(`${wellKnown}/mcp`, options.resource).href
    const verifier = { verifyAccessToken }
    app.use(
      '/mcp',
      requireBearerAuth({
        verifier,
        requiredScopes: [scopes],
        resourceMetadataUrl,
        expectedResource: options.resource,
      }),
    )
    app.all('/mcp', (req, res) => serveOlder(req, res))
    return listen(createServer(app), port)
  },

  async 'two servers'(options, port) {
    const app = express()
    const otherOptions = { ...options, resource: options.resource.replace('/mcp', '/other') }
    app.use([`${wellKnown}/mcp`, '/mcp'], expressAuth.mcpAuth(options))
    app.use([`${wellKnown}/other`, '/other'], expressAuth.mcpAuth(otherOptions))
    app.all(['/mcp', '/other'], (req, res) => serveOlder(req, res))
    app.get('/', (_req, res) => res.send('public'))
    return listen(createServer(app), port)
  },
}
