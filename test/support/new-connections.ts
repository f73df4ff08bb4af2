import { Agent, setGlobalDispatcher } from 'undici';

/**
 * `fetch` opens a connection for each request. A server can close a connection that it kept just as a busy test sends the next request,
 * which then fails with ECONNRESET; `fetch` repeats no POST request. Tests of kept connections have agents of their own.
 */
setGlobalDispatcher(new Agent({ pipelining: 0 }));
