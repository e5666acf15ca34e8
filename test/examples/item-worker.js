import { durableObjectDriver } from '../../examples/cloudflare-worker/durable-object-driver.ts'

export { Item } from '../../examples/cloudflare-worker/item.ts'

/** The driver of the Workers example for callers outside: `item-driver.js` is the other end. */
export default {
  async fetch(request, { ITEMS }) {
    if (request.method === 'GET') return new Response('ready')
    const { operation, parameters } = await request.json()
    try {
      return Response.json({ answer: await durableObjectDriver(ITEMS)[operation](...parameters) })
    } catch (error) {
      return Response.json({ reason: String(error) }, { status: 500 })
    }
  },
}
