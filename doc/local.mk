# doc: pages in Markdown. Commands they show are run by tests/docs.sh.
