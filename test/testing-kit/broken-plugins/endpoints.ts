import {
  defineEndpoint,
  defineFields,
  definePlugin,
  type Endpoint,
  type EndpointKit,
  OAuthError,
  type Plugin,
  type Reply,
} from '@grantry/core'
import type { EndpointCase, PluginCases } from '@grantry/testing'
import * as v from 'valibot'
import { type Broken, text } from './tickets.ts'

const params = v.object({ event: text })

const refuse = (description = 'The event is not known') =>
  new OAuthError('invalid_request', description, { reason: 'plugin:office:unknown' })

type Handle = (event: string, kit: EndpointKit) => Reply | Promise<Reply>

/** What a correct plugin returns. */
async function ticketFor(event: string, kit: EndpointKit): Promise<Reply> {
  if (event !== 'concert 7') throw refuse()
  const ticket = kit.randomId()
  await kit.records.put(ticket, event, kit.now() + 600)
  return { status: 201, json: { ticket } }
}

const endpoint = (handle: Handle, schema: v.GenericSchema<{ event: string }> = params) =>
  defineEndpoint({
    name: 'office',
    path: '/connect/office',
    metadataName: 'office_endpoint',
    methods: ['POST'],
    caller: 'client',
    params: schema,
    handle: ({ params: { event } }, kit) => handle(event, kit),
  })

export const office = (handle: Handle = ticketFor, schema?: v.GenericSchema<{ event: string }>): Plugin =>
  definePlugin('office', [endpoint(handle, schema)])

export const officeCase = (different: Partial<EndpointCase> = {}): PluginCases => ({
  endpoints: {
    office: {
      succeeds: { event: 'concert 7' },
      refused: [{ with: { event: 'concert 8' } }],
      public: ['event'],
      ...different,
    },
  },
})

/** An endpoint that reads JSON. */
const jsonOffice = (holder: v.GenericSchema<{ pass: string }>, store: (pass: string, kit: EndpointKit) => unknown) =>
  definePlugin('office', [
    defineEndpoint({
      name: 'office',
      path: '/connect/office',
      methods: ['POST'],
      body: 'json',
      caller: 'anyone',
      params: v.object({ holder }),
      async handle({ params }, kit) {
        await store(params.holder.pass, kit)
        return {}
      },
    }),
  ])

const jsonCase: PluginCases = { endpoints: { office: { succeeds: { holder: { pass: 'pass-of-the-holder' } } } } }

/** An endpoint that shows its refusals, and those of the core, as pages. */
export const pages = (presentError: NonNullable<Endpoint['presentError']>) =>
  definePlugin('office', [
    defineEndpoint({
      name: 'office',
      path: '/connect/office',
      methods: ['GET'],
      caller: 'anyone',
      params: v.object({ event: v.pipe(text, v.maxLength(100)) }),
      presentError,
      handle({ params: { event } }) {
        if (event !== 'concert 7') throw refuse()
        return { html: '<p>Welcome</p>' }
      },
    }),
  ])

/** An endpoint with a page that an invitation opens once. `use` returns whether it is the first time. */
export const invitations = (use: (id: string, kit: EndpointKit) => Promise<boolean>) =>
  definePlugin('office', [
    defineEndpoint({
      name: 'office',
      path: '/connect/office',
      methods: ['POST'],
      caller: 'anyone',
      params: v.object({ invitation: text }),
      async handle({ params: { invitation } }, kit) {
        if (await use(invitation, kit)) return { html: '<p>Welcome</p>' }
        return { html: '<p>The invitation is not valid</p>', error: refuse() }
      },
    }),
  ])

let sent = 0
export const invitationCase: PluginCases = {
  endpoints: { office: { succeeds: () => ({ invitation: `invitation ${++sent}` }), singleUse: true } },
}

export const brokenEndpoints: readonly Broken[] = [
  { defect: 'has an endpoint without a case', plugin: office(), cases: {}, rules: ['cases'] },
  {
    defect: 'has a case for an endpoint that does not exist',
    plugin: office(),
    cases: { endpoints: { ...officeCase().endpoints, counter: { succeeds: {} } } },
    rules: ['cases'],
  },
  {
    defect: 'looks up a parameter in an object',
    plugin: office((event, kit) => {
      const known: Record<string, string> = { 'concert 7': 'main hall' }
      return ticketFor(known[event]?.toUpperCase() === 'MAIN HALL' ? 'concert 7' : event, kit)
    }),
    cases: officeCase(),
    rules: ['server-error'],
  },
  {
    defect: 'returns a malformed reply',
    plugin: office(async (event, kit) => ({ ...(await ticketFor(event, kit)), status: 418 as never })),
    cases: officeCase(),
    rules: ['server-error'],
  },
  {
    defect: 'returns a stack trace',
    plugin: office(async (event, kit) => {
      try {
        return await ticketFor(event, kit)
      } catch (error) {
        return { json: { failed: (error as Error).stack ?? '' } }
      }
    }),
    cases: officeCase(),
    rules: ['internal-message', 'refusal'],
  },
  {
    defect: 'stores what it issues in plain text',
    plugin: office(async (event, kit) => {
      const ticket = kit.randomId()
      await kit.records.put('last', ticket, kit.now() + 600)
      return event === 'concert 7' ? { json: { ticket } } : ticketFor(event, kit)
    }),
    cases: officeCase(),
    rules: ['secret-in-storage'],
  },
  {
    defect: 'stores a nested member of JSON in plain text',
    plugin: jsonOffice(v.object({ pass: text }), (pass, kit) => kit.records.put('last', pass, kit.now() + 600)),
    cases: jsonCase,
    rules: ['secret-in-storage'],
  },
  {
    defect: 'cannot show a refusal without the header Referer',
    plugin: pages((_, request) => ({ html: `<a href="${new URL(request.header('referer') ?? '')}">Back</a>` })),
    cases: officeCase(),
    rules: ['presented-error'],
  },
  {
    defect: 'shows where a refusal was thrown',
    plugin: pages(({ stack }) => ({ html: `<pre>${stack}</pre>` })),
    cases: officeCase(),
    rules: ['internal-message'],
  },
  {
    defect: 'reads whether an invitation to an endpoint was used and then writes it',
    plugin: invitations(async (id, { records, now }) => {
      if ((await records.get(id, v.boolean())) === true) return false
      await records.put(id, true, now() + 600)
      return true
    }),
    cases: invitationCase,
    rules: ['concurrent-use'],
  },
  {
    defect: 'does not check the type of a member of JSON',
    plugin: jsonOffice(v.any(), (pass) => pass?.length),
    cases: jsonCase,
    rules: ['server-error', 'oversized-parameter'],
  },
  {
    defect: 'refuses what the storage did not store',
    plugin: office((event, kit) => ticketFor(event, kit).catch(() => Promise.reject(refuse()))),
    cases: officeCase(),
    rules: ['storage-failure'],
  },
  {
    defect: 'refuses unknown parameters at an endpoint',
    plugin: office(ticketFor, v.strictObject({ event: text })),
    cases: officeCase(),
    rules: ['unknown-parameter'],
  },
  {
    defect: 'announces an endpoint that can be disabled in other metadata',
    plugin: definePlugin('office', [
      endpoint(ticketFor),
      defineFields({ metadata: { ticket_office: 'https://id.example.com/connect/office' } }),
    ]),
    cases: officeCase(),
    rules: ['disabled-endpoint'],
  },
  {
    defect: 'announces a method of client authentication that it does not have',
    plugin: definePlugin('office', [
      endpoint(ticketFor),
      defineFields({ metadata: { token_endpoint_auth_methods_supported: ['tls_client_auth'] } }),
    ]),
    cases: officeCase(),
    rules: ['metadata'],
  },
]
