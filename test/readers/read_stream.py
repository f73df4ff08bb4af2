"""Prints the data lines of a stream of svc, as the documentation of a library reads them, in ASCII."""
import json
import sys

library, url = sys.argv[1:]
if library == 'requests':
    import requests

    with requests.post(url, json={}, stream=True) as response:
        for line in response.iter_lines(decode_unicode=True):
            if line.startswith('data: '):
                print(json.dumps(line[6:]), flush=True)
else:
    import httpx

    with httpx.stream('POST', url, json={}) as response:
        for line in response.iter_lines():
            if line.startswith('data: '):
                print(json.dumps(line[6:]), flush=True)
