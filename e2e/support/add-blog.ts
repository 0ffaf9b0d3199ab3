import type { Gatehouse } from './server/open-gatehouse.ts'

const API = '/_db/_system/_api'

/** Adds an endpoint for a database with a document; returns its address and the document's URL. */
export async function addBlog(gatehouse: Gatehouse) {
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await gatehouse.post(`${API}/database`, { name: 'blog' })
  await gatehouse.post('/_db/blog/articles', { id: 'one', title: 'One' })
  await gatehouse.post(`${API}/endpoint`, { endpoint: address, databases: ['blog'] })
  return { address, url: `http://127.0.0.1:${port}/articles/one` }
}
