// JavaScript, because the child processes of a proof load it without compilation. GRANTRY_TEST_ITEMS has the URL of
// `item-worker.js`.
async function call(operation, ...parameters) {
  const response = await fetch(process.env.GRANTRY_TEST_ITEMS, {
    method: 'POST',
    // On a busy machine, the Worker could close an idle connection while a request is being sent on it.
    headers: { Connection: 'close' },
    body: JSON.stringify({ operation, parameters }),
  })
  const { result, reason } = await response.json()
  if (!response.ok) throw new Error(`${operation} in the Worker: ${reason}`)
  return result
}

export const open = () => ({
  name: 'durable-object',
  getItem: (key) => call('getItem', key),
  setItem: (key, value, options) => call('setItem', key, value, options),
  insertItem: (key, value, options) => call('insertItem', key, value, options),
  incrementItem: (key, options) => call('incrementItem', key, options),
  replaceItem: (key, change) => call('replaceItem', key, change),
  removeItem: (key, options) => call('removeItem', key, options),
})
