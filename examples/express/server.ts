import { nodeMiddleware } from '@grantry/adapters/node'
import express from 'express'
import { createDemoProvider, issuer, port } from '../provider.ts'

const app = express()
// Before any body parser, because a body can be read only once.
app.use(nodeMiddleware(await createDemoProvider()))
app.use(express.json())
app.get('/hello', (_req, res) => {
  res.send('hello from Express')
})

app.listen(port, '127.0.0.1', (error) => {
  if (error) throw error
  console.log(`Listening on ${issuer}`)
})
